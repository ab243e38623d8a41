import { createHmac } from 'node:crypto';

/** What a browser is told, and the process of a call asks, to find a way through firewalls and translated addresses. */
export type IceServer = { urls: string[]; username?: string; credential?: string };

export type IceSettings = {
  /** Such as `stun:stun.example.com:3478` and `turns:turn.example.com:5349?transport=tcp`. */
  urls: readonly string[];
  /** What the TURN servers share with this one; null where there is none among them. */
  secret: string | null;
};

/**
 * A TURN server passes on whatever it is sent: its password must not outlive the session. It knows the secret and works the
 * password out anew, so that nobody has to tell it of each session (coturn's `use-auth-secret`; its hash is SHA-1).
 */
export function iceServersFor(
  { urls, secret }: IceSettings,
  { id, expiresAt }: { id: string; expiresAt: Date },
): IceServer[] {
  const relays = urls.filter((url) => url.startsWith('turn'));
  const others = urls.filter((url) => !url.startsWith('turn'));
  const servers: IceServer[] = others.length > 0 ? [{ urls: others }] : [];
  if (relays.length === 0 || secret === null) return servers;
  const username = `${Math.floor(expiresAt.getTime() / 1000)}:${id}`;
  const credential = createHmac('sha1', secret).update(username).digest('base64');
  return [...servers, { urls: relays, username, credential }];
}
