/** Loads the handler on the first request: the protocol packages would slow down every start. */
export function whenFirstCalled<Incoming>(
  load: () => Promise<(incoming: Incoming) => Promise<Response>>,
): (incoming: Incoming) => Promise<Response> {
  let loaded: ReturnType<typeof load> | undefined;
  return async (incoming) => {
    loaded ??= load();
    return (await loaded)(incoming);
  };
}
