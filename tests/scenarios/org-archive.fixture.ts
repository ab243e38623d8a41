import { gunzipSync, gzipSync } from 'node:zlib';
import type { Manifest, Opening } from '@vestra/server/operator/archive/format';
import { endName, manifestName, openingName } from '@vestra/server/operator/archive/format';
import { partsOf, readOpening, readWhole, verifyArchive } from '@vestra/server/operator/archive/reader';
import { writeArchive } from '@vestra/server/operator/archive/writer';
import { sealScope } from '@vestra/server/operator/org-move/export';
import { readTransportKey, rewrapVault } from '@vestra/server/operator/org-move/keys';

/** The parts of an archive of an org, which a test may change. Parts of tables are unpacked. */
export type OpenArchive = { opening: Opening; manifest: Manifest; parts: Map<string, Buffer> };

type OrgMove = NonNullable<Manifest['move']>;

export async function readArchive(path: string): Promise<OpenArchive> {
  const parts = new Map<string, Buffer>();
  for await (const { name, content } of partsOf(path, {})) {
    const bytes = await readWhole(content);
    if (name === openingName || name === manifestName || name === endName) continue;
    parts.set(name, name.endsWith('.gz') ? gunzipSync(bytes) : bytes);
  }
  return { opening: await readOpening(path), manifest: await verifyArchive(path, () => {}), parts };
}

/** Writes it again as its source would, with right hashes and a right seal: only the transport key is needed for that. */
export async function sealAgain(
  path: string,
  keyFile: string,
  { opening, manifest, parts }: OpenArchive,
  afterwards: (move: OrgMove) => OrgMove = (move) => move,
): Promise<void> {
  const transport = await readTransportKey(keyFile);
  const orgId = opening.org?.id as string;
  await writeArchive(path, opening, async (writer) => {
    const written: Manifest['parts'] = [];
    for (const [name, content] of parts) {
      const bytes = name.endsWith('.gz') ? gzipSync(content) : content;
      if (name.startsWith('files/')) await writer.add(name, bytes);
      else written.push(await writer.addStream(name, [bytes] as never));
    }
    const tables = manifest.tables.map((table) => ({
      ...table,
      rows: (parts.get(table.part)?.toString('latin1').match(/\n/g) ?? []).length,
    }));
    const { move, ...rest } = { ...manifest, tables, parts: written };
    if (!move) throw new Error('This is no archive of an org.');
    const wrapped = Buffer.from(move.wrapped_data_key, 'base64');
    const seal = rewrapVault(transport, transport).seal(
      { orgId, wrapped },
      Buffer.alloc(0),
      sealScope(opening, rest, move),
    );
    return { ...rest, move: afterwards({ ...move, seal: seal.toString('base64') }) };
  });
}
