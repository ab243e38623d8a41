import { type RepublishLive, republishLiveVersions } from '../../agents/versions/index.ts';
import { tellPromoted } from './promotion.ts';
import { dropPending } from './store.ts';

/** Lets live versions go on with changed content, as promotions: a run that was to promote another no longer does. */
export const republishLive: RepublishLive = async (tx, origin, resourceId, next) => {
  for (const { deployment, version } of await republishLiveVersions(tx, origin, resourceId, next)) {
    await dropPending(tx, deployment.id, 'live');
    await tellPromoted(tx, { origin, deployment, version, becameDefault: false });
  }
};
