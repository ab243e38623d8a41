/**
 * The voices that the program holds and what it calls them, all English and at the rate of a call: a woman, two men and an older,
 * thinner one. Apart from what runs it, which Node calls experimental wherever it is loaded.
 */
export const fliteVoices: Readonly<Record<string, string>> = { slt: 'slt', rms: 'rms', awb: 'awb', kal: 'kal16' };
