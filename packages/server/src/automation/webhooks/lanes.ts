/** Concurrent attempts of one process. */
export type LaneLimits = { total: number; perOrg: number; perEndpoint: number };

type Lane = {
  running: number;
  /** Null until its first delivery is claimed; until then the lane has only its first slots. */
  orgId: string | null;
  /** Concurrent attempts: each success adds one, a failure resets it to one. */
  limit: number;
  /** The last attempt succeeded. */
  isProven: boolean;
};

const firstLimit = 2;
const maxCached = 10_000;

/**
 * One lane for each endpoint, so that a hanging endpoint delays no other. New and failing endpoints get one or two
 * slots each, and together at most half of all slots. The rest is left to endpoints that answer. All endpoints of an
 * org share the limit of the org.
 */
export function createLanes({ total, perOrg, perEndpoint }: LaneLimits) {
  const lanes = new Map<string, Lane>();
  /** Endpoints that may have due deliveries, oldest first. */
  const ready = new Set<string>();
  const ofOrgs = new Map<string, number>();
  let running = 0;
  let unproven = 0;

  return {
    ready(endpointIds: readonly string[]) {
      for (const endpointId of endpointIds) ready.add(endpointId);
    },

    /**
     * How many deliveries to claim for which endpoints. They leave the ready set first, so that a notification during
     * the claim makes them ready again.
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

    /** Call the returned function once, when the attempt has ended. */
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
        if (lane.running === 0 && lanes.size > maxCached) lanes.delete(endpointId);
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
