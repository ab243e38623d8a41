/** What your server answers: what it got of `POST /v1/sessions`, or no more than the `url` of it. */
export type GivenSession = { url: string };

/**
 * Asks your server for a session. `conversationId`: the conversation that is shown and is to go on; null at first, when your
 * server says which it is.
 */
export type GetSession = (wanted: { conversationId: string | null }) => Promise<GivenSession>;

/** A session as its address tells it. */
export type OpenSession = { url: string; origin: string; sessionId: string; token: string };

export type SessionKeeper = {
  /** Asks at once; while it is being asked, nobody asks a second time. */
  renew: () => Promise<OpenSession | null>;
  stop: () => void;
};

type KeeperOptions = {
  ask: () => Promise<GivenSession>;
  taken: (session: OpenSession) => void;
  /** Asked as often as makes sense, and none was to be had; what was thrown last. */
  failed: (error: unknown) => void;
};

/** A session lasts 15 minutes. By the device's own clock, since a wrong one still runs at the right speed. */
const renewAfterMs = 10 * 60_000;

/** Between one failed question and the next. */
const pausesMs = [1000, 2000, 4000, 8000, 15_000];
const tryAgainAfterMs = 60_000;

/** Keeps a session that does not end: asks for the first one, and for another long before each one's time is over. */
export function keepSession({ ask, taken, failed }: KeeperOptions): SessionKeeper {
  let dueAt = Number.POSITIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking: Promise<OpenSession | null> | null = null;
  let isStopped = false;

  function schedule(ms: number): void {
    clearTimeout(timer);
    if (isStopped) return;
    dueAt = Date.now() + ms;
    timer = setTimeout(() => void renew(), ms);
  }

  function renew(): Promise<OpenSession | null> {
    asking ??= askUntilGiven().finally(() => {
      asking = null;
    });
    return asking;
  }

  async function askUntilGiven(): Promise<OpenSession | null> {
    for (const pauseMs of [...pausesMs, null]) {
      try {
        const session = readSession(await ask());
        if (isStopped) return null;
        schedule(renewAfterMs);
        taken(session);
        return session;
      } catch (error) {
        if (isStopped) return null;
        if (pauseMs !== null) await sleepOrOnline(pauseMs);
        else failed(error);
      }
    }
    schedule(tryAgainAfterMs);
    // Whoever comes back to the page, or into the network, need not wait for that.
    dueAt = 0;
    return null;
  }

  // A device that slept, or a tab that was in the back for long, comes late to its timers.
  const wake = () => {
    if (Date.now() >= dueAt) void renew();
  };
  const woken = [
    [document, 'visibilitychange'],
    [window, 'pageshow'],
    [window, 'online'],
  ] as const;
  for (const [target, type] of woken) target.addEventListener(type, wake);
  void renew();

  return {
    renew,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      for (const [target, type] of woken) target.removeEventListener(type, wake);
    },
  };
}

/** The id and the token are in the address. */
export function readSession(given: unknown): OpenSession {
  const url = (given as Partial<GivenSession> | null)?.url;
  const parsed = typeof url === 'string' ? URL.parse(url) : null;
  const sessionId = parsed && /\/session\/(ses_[0-9a-z]{24})$/.exec(parsed.pathname)?.[1];
  const token = parsed && new URLSearchParams(parsed.hash.slice(1)).get('token');
  if (!parsed || !sessionId || !token) {
    throw new TypeError('getSession() must give what POST /v1/sessions answered, with its `url` as it is.');
  }
  return { url: parsed.href, origin: parsed.origin, sessionId, token };
}

function sleepOrOnline(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener('online', done);
  });
}
