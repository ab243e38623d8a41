import { useState } from 'react';
import { useOrgAndMode } from './api.ts';
import { defaultOf } from './default-of.ts';
import { useList } from './queries.ts';

/** The newest conversations that are looked through for a deployment. */
const mostLookedThrough = 20;

/**
 * The deployment of the address, by slug or id. Without one: the deployment that somebody talked to last in this mode,
 * else a live one, else the newest.
 */
export function useDeploymentOrDefault(named: string | undefined) {
  const { org, mode } = useOrgAndMode();
  const list = useList('deployments.list', {}, { limit: 100 });
  const conversations = useList('conversations.list', {}, { limit: mostLookedThrough });
  const isLoading = list.isLoading || conversations.isLoading;
  // It is chosen once: later conversations must not change what the page shows.
  const [chosen, setChosen] = useState<{ place: string; id: string } | null>(null);
  const place = `${org} ${mode}`;
  const usual = isLoading ? undefined : defaultOf(list.rows, conversations.rows);
  if (usual && chosen?.place !== place) setChosen({ place, id: usual.id });
  const deployment =
    list.rows.find(({ slug, id }) => slug === named || id === named) ??
    list.rows.find(({ id, status }) => id === chosen?.id && status === 'active') ??
    usual;
  return { deployment, list: { ...list, isLoading } };
}
