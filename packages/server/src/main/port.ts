import { createServer } from 'node:net';
import { StartFailure } from '../platform/db/start-failure.ts';

type Address = { host: string; port: number };

/** Explains in one sentence why the server cannot listen. */
export function listenFailure({ code }: NodeJS.ErrnoException, { host, port }: Address): StartFailure {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use. Stop the program that uses it, or set PORT to another port.`,
    EACCES: `Port ${port} needs more rights than this user has. Set PORT to one above 1023.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Set HOST to one it has.`,
    ENOTFOUND: `The host name ${host} cannot be resolved. Set HOST to an address of this machine, such as 127.0.0.1.`,
  };
  return new StartFailure(
    reasons[code ?? ''] ?? `The server cannot listen on ${host}:${port} (${code}). Set HOST and PORT to others.`,
  );
}

/** Fails if the server could not listen there. The start checks it before it creates a database. */
export async function assertPortIsFree(address: Address): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenFailure(error, address)));
    server.listen(address.port, address.host, resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}
