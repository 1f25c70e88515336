/** The program's version, as the status and the API's document say it. */
export const VERSION = "0.1.0";
