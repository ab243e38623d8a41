/** The interface of zod and other libraries that follow Standard Schema, so that the SDK needs none of them. */
export type StandardSchema<Input = unknown, Output = unknown> = {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: { target: 'draft-2020-12' }) => Record<string, unknown> };
  };
};

type Checked<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

type Issue = { readonly message: string; readonly path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined };

export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** Returns the parsed value, or a description of the faults that quotes none of it. */
export async function readInput(
  schema: StandardSchema,
  given: unknown,
): Promise<{ value: unknown } | { fault: string }> {
  const checked = await schema['~standard'].validate(given);
  if (!checked.issues) return { value: checked.value };
  return { fault: checked.issues.map(sentenceOf).join(' ') };
}

function sentenceOf({ path = [], message }: Issue): string {
  const names = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return names.length === 0 ? `${message}.` : `${names.join('.')}: ${message}.`;
}
