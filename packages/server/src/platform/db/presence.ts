/** What a process knows of the others that listen beside it. */
export type Presence = {
  /** Its own line is up. Whoever was known before is to say so again. */
  up: () => void;
  down: () => void;
  /** Returns whether the process was unknown until now. */
  hear: (from: string) => boolean;
  /**
   * Nobody else has been heard of for long. Only who hears itself can say so: on a line that carries nothing everybody
   * seems to be alone.
   */
  isAlone: () => boolean;
};

/** A process says hello this often, and is forgotten after three times as long. */
export const usualHelloMs = 20_000;

export function createPresence(self: string, helloMs: number, now = () => performance.now()): Presence {
  const heardAt = new Map<string, number>();
  const forgetMs = 3 * helloMs;
  // An answer takes milliseconds, from a process that is hard at work a second or two.
  const answersWithinMs = helloMs / 4;
  let upSince: number | null = null;

  return {
    up() {
      heardAt.clear();
      upSince = now();
    },
    down() {
      upSince = null;
    },
    hear(from) {
      forgetSilent();
      const isUnknown = !heardAt.has(from);
      heardAt.set(from, now());
      return isUnknown;
    },
    isAlone() {
      if (upSince === null || now() - upSince < answersWithinMs) return false;
      forgetSilent();
      return heardAt.size === 1 && heardAt.has(self);
    },
  };

  function forgetSilent(): void {
    const oldest = now() - forgetMs;
    for (const [from, at] of heardAt) if (at < oldest) heardAt.delete(from);
  }
}
