import { z } from "zod";

// Compiled parsers take longer to make at a start than they save, and need `new Function`.
z.config({ jitless: true });

export { z };
