/** Limits of one computer over all its commands, unless stated otherwise. */
export type ComputerLimits = {
  /** Held by the kernel, which refuses further processes. */
  processes: number;
  /** The server ends the largest command above this number, before the kernel refuses processes to all of them. */
  processesBeforeEnd: number;
  memoryBytes: number;
  /** The size of the home folder. */
  diskBytes: number;
  files: number;
  /** How often usage is measured. */
  everyMs: number;
  commandsAtOnce: number;
  commandsWaiting: number;
  fileBytes: number;
  outputBytes: number;
};

export const megabyte = 1024 * 1024;
export const defaultLimits: ComputerLimits = {
  processes: 256,
  processesBeforeEnd: 192,
  memoryBytes: 2048 * megabyte,
  diskBytes: 4096 * megabyte,
  files: 250_000,
  everyMs: 50,
  commandsAtOnce: 4,
  commandsWaiting: 64,
  fileBytes: 2048 * megabyte,
  outputBytes: 256 * 1024,
};
