/** A handler whose code is loaded with its first call: the protocols' own packages would count against every start. */
export function whenFirstCalled<Incoming>(
  load: () => Promise<(incoming: Incoming) => Promise<Response>>,
): (incoming: Incoming) => Promise<Response> {
  let loaded: ReturnType<typeof load> | undefined;
  return async (incoming) => {
    loaded ??= load();
    return (await loaded)(incoming);
  };
}
