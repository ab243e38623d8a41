/** An error for the user of the command line. Exit code 2: wrong usage; 1: anything else. */
export class CommandFault extends Error {
  readonly exitCode: number;
  readonly param: string | undefined;
  /** The API's type and code for it, if there is one. */
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

/** Reports wrong usage of a command. */
export const misuse = (message: string, param?: string): CommandFault =>
  new CommandFault(message, { exitCode: 2, param });

/** Reports that a valid command cannot be executed. */
export const refuse = (message: string): CommandFault => new CommandFault(message, { exitCode: 1 });
