import { createLines, type Lines } from '../../adapters/voice/line.ts';
import { createOfflineSpeech } from '../../adapters/voice/offline-speech.ts';
import { createRealtimeSpeech } from '../../adapters/voice/realtime-speech.ts';
import { guardOffer } from '../../adapters/voice/session-description.ts';
import type { Speech } from '../../adapters/voice/speech.ts';
import type { ProcessNews } from '../../db/process-news.ts';
import type { Engine } from '../../domains/engine/api.ts';
import type { Followers } from '../../domains/events/api.ts';
import { latestVoiceCalls, nextVoiceCall } from '../../domains/sessions/api.ts';
import { createVoiceCalls, type VoiceCalls } from '../../domains/voice/api.ts';
import { createRateLimiter } from '../../http/rate-limit.ts';
import type { Streams } from '../../http/streams.ts';
import type { Config } from '../config.ts';
import type { Kernel } from '../kernel.ts';

/** What carries sound, and what hears and speaks. */
export type VoiceParts = { lines: Lines; speech: Speech };

/** Nothing of it is loaded before the first call. */
export function voicePartsOf({ voice: { folder, realtime, network } }: Config): VoiceParts {
  return {
    lines: createLines({ folder, network }),
    speech: realtime ? createRealtimeSpeech(realtime) : createOfflineSpeech({ folder }),
  };
}

/** The calls that this process holds. */
export function assembleVoice(
  { config, log }: Kernel,
  parts: VoiceParts & { engine: Engine; followers: Followers; streams: Streams; processNews: ProcessNews },
): VoiceCalls {
  const { mostCalls, silenceMs, ice, network } = config.voice;
  const { db } = parts.engine;
  return createVoiceCalls({
    ...parts,
    log,
    rateLimiter: createRateLimiter(db),
    guardOffer: (sdp) => guardOffer(sdp, network),
    order: { next: (id) => nextVoiceCall(db, id), latest: (ids) => latestVoiceCalls(db, ids) },
    ice,
    most: mostCalls,
    times: { silenceMs },
  });
}
