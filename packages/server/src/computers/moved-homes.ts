import { makeComputerFolders, removeComputerFolders } from './machine/computer-folder.ts';
import { createHomeArchive } from './machine/home-archive.ts';

/** The home of a computer that sleeps on this machine, in the form in which homes are saved. */
export async function packHome(dataDir: string, number: number): Promise<AsyncIterable<Uint8Array>> {
  return createHomeArchive().pack(await makeComputerFolders(dataDir, number));
}

/** Fills the home of a computer that has never run on this machine. */
export async function unpackHome(
  dataDir: string,
  number: number,
  content: AsyncIterable<Uint8Array>,
  sha256: string,
): Promise<void> {
  try {
    await createHomeArchive().unpack(await makeComputerFolders(dataDir, number), content, sha256);
  } catch (error) {
    await removeComputerFolders(dataDir, number);
    throw error;
  }
}
