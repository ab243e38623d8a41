/** What a command cannot do, said to the person who typed it. Exit code 2: typed wrongly; 1: anything else. */
export class CommandFault extends Error {
  readonly exitCode: number;
  readonly param: string | undefined;
  /** The API's own words for it, where it has some. */
  readonly told: { type: string; code: string } | undefined;

  constructor(
    message: string,
    options: { exitCode: number; param?: string | undefined; told?: { type: string; code: string } },
  ) {
    super(message);
    this.name = 'CommandFault';
    this.exitCode = options.exitCode;
    this.param = options.param;
    this.told = options.told;
  }
}

/** The command was not typed as it is meant to be. */
export const misuse = (message: string, param?: string): CommandFault =>
  new CommandFault(message, { exitCode: 2, param });

/** The command was understood and cannot be done. */
export const refuse = (message: string): CommandFault => new CommandFault(message, { exitCode: 1 });
