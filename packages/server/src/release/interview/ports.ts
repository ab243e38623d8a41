import type { Engine } from '../../engine/index.ts';
import type { Caller } from '../../platform/caller.ts';

export type InterviewFile = Record<string, unknown> & { name: string };

/** `param`: where in the file, such as `tools.0.function`. */
export type FileFault = { param: string; message: string };

/** What an interview needs of the house. */
export type InterviewPorts = {
  engine: Engine;
  /** Everything that applying the file would refuse it for; empty where it would be taken. */
  faultsOf: (caller: Caller, file: InterviewFile) => Promise<FileFault[]>;
  /** The file as text that parses to the same file. */
  render: (file: InterviewFile) => Promise<string>;
};
