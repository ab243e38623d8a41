/** How many attempts of one process are under way at once. */
export type Limits = { total: number; perOrg: number; perEndpoint: number };

type Lane = {
  running: number;
  /** Whose endpoint it is; null until its first delivery is seen, and till then it has a slot or two. */
  orgId: string | null;
  /** How many may run at once: grows with each success, falls to one with a failure. */
  limit: number;
  /** Its last attempt was a success. */
  isProven: boolean;
};

const firstLimit = 2;
const mostRemembered = 10_000;

/**
 * A lane for each endpoint, so that one that hangs delays no other. An endpoint has to earn its share: those that are
 * new or fail get a slot or two, and half of all slots together, which leaves the others to those that answer. And the
 * endpoints of one org, however many, have no more than its share.
 */
export function createLanes({ total, perOrg, perEndpoint }: Limits) {
  const lanes = new Map<string, Lane>();
  /** Endpoints that may have a delivery that is due, those that wait longest first. */
  const ready = new Set<string>();
  const ofOrgs = new Map<string, number>();
  let running = 0;
  let unproven = 0;

  return {
    ready(endpointIds: readonly string[]) {
      for (const endpointId of endpointIds) ready.add(endpointId);
    },

    /**
     * How many deliveries to look for, and of which endpoints. They count as not ready from now on: what is told to be
     * due while they are looked for makes them ready again.
     */
    choose(): { endpointId: string; room: number }[] {
      const chosen: { endpointId: string; room: number }[] = [];
      let free = total - running;
      let freeUnproven = Math.max(1, Math.floor(total / 2)) - unproven;
      const given = new Map<string | null, number>();
      for (const endpointId of ready) {
        if (free <= 0) break;
        const { limit, running: own, isProven, orgId } = laneOf(endpointId);
        const freeOfOrg = orgId === null ? free : perOrg - (ofOrgs.get(orgId) ?? 0) - (given.get(orgId) ?? 0);
        const room = Math.min(limit - own, free, freeOfOrg, isProven ? free : freeUnproven);
        if (room <= 0) continue;
        free -= room;
        given.set(orgId, (given.get(orgId) ?? 0) + room);
        if (!isProven) freeUnproven -= room;
        ready.delete(endpointId);
        chosen.push({ endpointId, room });
      }
      return chosen;
    },

    /** Call what it gives back once, when the attempt has ended. */
    enter(endpointId: string, orgId: string): (isSuccess: boolean) => void {
      const lane = laneOf(endpointId);
      lane.orgId = orgId;
      ofOrgs.set(orgId, (ofOrgs.get(orgId) ?? 0) + 1);
      const wasProven = lane.isProven;
      lane.running += 1;
      running += 1;
      if (!wasProven) unproven += 1;
      return (isSuccess) => {
        lane.running -= 1;
        running -= 1;
        const left = (ofOrgs.get(orgId) ?? 1) - 1;
        if (left === 0) ofOrgs.delete(orgId);
        else ofOrgs.set(orgId, left);
        if (!wasProven) unproven -= 1;
        lane.isProven = isSuccess;
        lane.limit = isSuccess ? Math.min(perEndpoint, lane.limit + 1) : 1;
        if (lane.running === 0 && lanes.size > mostRemembered) lanes.delete(endpointId);
      };
    },
  };

  function laneOf(endpointId: string): Lane {
    let lane = lanes.get(endpointId);
    if (!lane) {
      lane = { running: 0, orgId: null, limit: Math.min(firstLimit, perEndpoint), isProven: false };
      lanes.set(endpointId, lane);
    }
    return lane;
  }
}
