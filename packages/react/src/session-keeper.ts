/** The response of your server: that of `POST /v1/sessions`, or only its `url`. */
export type GivenSession = { url: string };

/** Requests a session from your server. `conversationId` is the conversation to continue, or null at first. */
export type GetSession = (wanted: { conversationId: string | null }) => Promise<GivenSession>;

/** A session as parsed from its URL. */
export type OpenSession = { url: string; origin: string; sessionId: string; token: string };

export type SessionKeeper = {
  /** Requests a session now. Concurrent calls share one request. */
  renew: () => Promise<OpenSession | null>;
  stop: () => void;
};

type KeeperOptions = {
  ask: () => Promise<GivenSession>;
  taken: (session: OpenSession) => void;
  /** All attempts failed. `error` is the last one. */
  failed: (error: unknown) => void;
};

/** A session lasts 15 minutes. A timer is independent of a wrong device clock. */
const renewAfterMs = 10 * 60_000;

/** The pauses between attempts. */
const pausesMs = [1000, 2000, 4000, 8000, 15_000];
const tryAgainAfterMs = 60_000;

/** Keeps a session alive by requesting a new one before each expiry. */
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
    // A visible or online event retries immediately.
    dueAt = 0;
    return null;
  }

  // Timers are late after sleep and in background tabs.
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

/** The URL contains the id and the token. */
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
