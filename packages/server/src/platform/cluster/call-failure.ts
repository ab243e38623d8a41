/** The process was not reached, so that nothing of the call has happened. */
export class PeerAway extends Error {}

/** The connection ended in the middle of a call: whether it took effect is unknown. */
export class PeerLost extends Error {}
