import type { ChargeItem } from '../billing/index.ts';
import type { SpeechUse } from './speech/speech.ts';

/** A ten-thousandth of a dollar a second, as a computer costs: 0.36 dollars an hour. */
const microsPerSecond = 100;

type Call = { userId: string | null; deploymentId: string | null; conversationId: string; model: string };

/** What a stretch of a call costs: its time, and what a vendor counts besides. */
export function voiceItems(call: Call, seconds: number, used: readonly SpeechUse[]): ChargeItem[] {
  const about = {
    kind: 'voice' as const,
    model: call.model,
    userId: call.userId,
    deploymentId: call.deploymentId,
    conversationId: call.conversationId,
    taskId: null,
    turnId: null,
  };
  return [
    { ...about, quantity: Math.round(seconds * 1000) / 1000, unit: 'seconds', unitPriceMicros: microsPerSecond },
    ...used.map((each) => ({ ...about, ...each })),
  ];
}
