import type { Followers } from '../account/events/followers.ts';
import type { Engine } from '../engine/index.ts';
import { latestVoiceCalls, nextVoiceCall } from '../integrations/sessions/store.ts';
import type { ClusterNotifications } from '../platform/cluster/cluster-notifications.ts';
import type { Config } from '../platform/config/config.ts';
import { createRateLimiter } from '../platform/http/rate-limit.ts';
import type { Streams } from '../platform/http/streams.ts';
import { createVoiceCalls, type VoiceCalls } from '../voice/calls.ts';
import { type CallConnections, createCallConnections } from '../voice/speech/call-connection.ts';
import { createOfflineSpeech } from '../voice/speech/offline-speech.ts';
import { createRealtimeSpeech } from '../voice/speech/realtime-speech.ts';
import { guardOffer } from '../voice/speech/session-description.ts';
import type { Speech } from '../voice/speech/speech.ts';
import type { Kernel } from './kernel.ts';

/** The connections that carry sound, and the speech recognition and synthesis. */
export type VoiceParts = { connections: CallConnections; speech: Speech };

/** Loads nothing before the first call. */
export function createVoiceParts({ voice: { folder, isConfined, realtime, network } }: Config): VoiceParts {
  return {
    connections: createCallConnections({ folder, network, isConfined }),
    speech: realtime ? createRealtimeSpeech(realtime) : createOfflineSpeech({ folder }),
  };
}

/** Creates the voice calls of this process. */
export function assembleVoice(
  { config, log }: Kernel,
  parts: VoiceParts & { engine: Engine; followers: Followers; streams: Streams; processNews: ClusterNotifications },
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
