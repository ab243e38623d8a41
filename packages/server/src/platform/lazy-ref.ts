/** A reference to a value that is set later. Reading it too early throws an error with the name of the value. */
export type LazyRef<Value> = { get: () => Value; set: (value: Value) => void };

export function createLazyRef<Value>(name: string): LazyRef<Value> {
  let current: { value: Value } | undefined;
  return {
    get: () => {
      if (!current) throw new Error(`\`${name}\` was used before it was initialised.`);
      return current.value;
    },
    set: (value) => {
      current = { value };
    },
  };
}
