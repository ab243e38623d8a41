/** A value that others hold on to before it is there. Who asks too early is told which one it is. */
export type Late<Value> = { get: () => Value; set: (value: Value) => void };

export function createLate<Value>(name: string): Late<Value> {
  let given: { value: Value } | undefined;
  return {
    get: () => {
      if (!given) throw new Error(`Of the parts of the server, ${name} was used before it was there.`);
      return given.value;
    },
    set: (value) => {
      given = { value };
    },
  };
}
