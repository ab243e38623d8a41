import { randomBytes } from 'node:crypto';

let lastTime = 0;
let count = 0;

/**
 * A UUID of version 7. Jobs of one transaction share their time of creation and are then taken in the order of their
 * ids, so ids of one process sort in the order they were made, also within a millisecond.
 */
export function newJobId(now: number = Date.now()): string {
  if (now > lastTime) {
    lastTime = now;
    count = 0;
  } else if (count === mostPerMillisecond) {
    lastTime++;
    count = 0;
  } else {
    count++;
  }
  const time = lastTime.toString(16).padStart(12, '0');
  const counted = count.toString(16).padStart(3, '0');
  const chance = randomBytes(8);
  chance[0] = ((chance[0] as number) & 0x3f) | 0x80;
  const rest = chance.toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counted}-${rest.slice(0, 4)}-${rest.slice(4)}`;
}

const mostPerMillisecond = 0xfff;
