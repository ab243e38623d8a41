import { createLines } from '../../adapters/voice/line.ts';
import { createOfflineSpeech } from '../../adapters/voice/offline-speech.ts';
import { createRealtimeSpeech } from '../../adapters/voice/realtime-speech.ts';
import type { Bell } from '../../db/bell.ts';
import type { Engine } from '../../domains/engine/api.ts';
import type { Followers } from '../../domains/events/api.ts';
import { createVoiceCalls, type VoiceCalls } from '../../domains/voice/api.ts';
import type { Streams } from '../../http/streams.ts';
import type { Kernel } from '../kernel.ts';

/** The calls that this process holds. Nothing of it is loaded before the first. */
export function assembleVoice(
  { config, log }: Kernel,
  parts: { engine: Engine; followers: Followers; streams: Streams; bell: Bell },
): VoiceCalls {
  const { folder, realtime, mostCalls, silenceMs, network } = config.voice;
  return createVoiceCalls({
    ...parts,
    log,
    lines: createLines({ folder, network }),
    speech: realtime ? createRealtimeSpeech(realtime) : createOfflineSpeech({ folder }),
    most: mostCalls,
    times: { silenceMs },
  });
}
