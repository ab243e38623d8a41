import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { home } from './home-path.ts';
import type { Place } from './place.ts';

/** Without these, programs do not know who they are. They are the server's, and only read inside. */
export async function furnish(place: Place): Promise<void> {
  await mkdir(etcOf(place), { recursive: true });
  await chmod(etcOf(place), 0o755);
  for (const [name, text] of Object.entries(etc)) {
    await writeFile(join(etcOf(place), name), text);
    await chmod(join(etcOf(place), name), 0o644);
  }
}

export const etcOf = (place: Place) => join(dirname(place.home), 'etc');

const etc: Record<string, string> = {
  // In gVisor the agent is root, of nothing but its own files: the first line with a number gives the name.
  passwd: `agent:x:1000:1000:agent:${home}:/bin/bash\nagent:x:0:0:agent:${home}:/bin/bash\nroot:x:0:0:root:/root:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
  group: 'agent:x:1000:\nagent:x:0:\nroot:x:0:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost computer\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};
