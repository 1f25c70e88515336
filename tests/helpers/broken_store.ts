import { DatabaseSync } from "node:sqlite";

/** How long to wait for the program under test to let go of its file. */
const BUSY_MS = 5_000;

/** Takes the table of a store's file away, so that all reads and writes of it fail. */
export class BrokenStore implements Disposable {
  readonly #db: DatabaseSync;

  constructor(kvPath: string) {
    this.#db = new DatabaseSync(kvPath);
    this.#db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    this.#db.exec("ALTER TABLE kv RENAME TO kv_away");
  }

  /** Gives the table back as it was. */
  [Symbol.dispose](): void {
    this.#db.exec("ALTER TABLE kv_away RENAME TO kv");
    this.#db.close();
  }
}
