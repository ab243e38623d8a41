/** How a request names a deployment: by id, slug or name, perhaps at one version. */
type Reference = { deployment: string; version: number | null };

/** Nine digits: what is longer names no version and would not fit the column. */
const pinned = /^(.+)@([1-9][0-9]{0,8})$/su;

/**
 * What the text may mean, the likeliest reading first. A name may hold `@` itself, so `Desk@2` is version 2 of `Desk`
 * and, where there is no `Desk`, the deployment that is called so.
 */
export function readReference(text: string): Reference[] {
  const whole: Reference = { deployment: text, version: null };
  const [, deployment, version] = pinned.exec(text) ?? [];
  if (deployment === undefined) return [whole];
  return [{ deployment, version: Number(version) }, whole];
}
