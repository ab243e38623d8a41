import { area } from '../requirement.ts';

export const offline = area('offline', 'done', [
  [
    'OFF-101',
    'docs/test-reference.md#offline-verdicts',
    'The offline judge decides only whether the agent said some words or called a tool; all else it leaves undecided.',
  ],
  [
    'OFF-102',
    'docs/offline-model.md#rules-of-the-offline-model',
    'The stand-in answers in whole sentences of its instructions, notebooks, memory, files and earlier results, or says that it found nothing.',
  ],
  [
    'OFF-103',
    'docs/offline-model.md#rules-of-the-offline-model',
    "The stand-in's interview and drafts fit what they are about, and their tests can be judged by words.",
  ],
  [
    'OFF-104',
    'docs/offline-model.md#rules-of-the-offline-model',
    "Every command of the README and of the examples' READMEs works on a fresh machine with no key and no secret.",
  ],
  [
    'OFF-105',
    'docs/test-reference.md#offline-verdicts',
    'A test result names the model that judged, and a line that it could not decide is marked as undecided.',
  ],
  [
    'OFF-110',
    'docs/offline-model.md#rules-of-the-offline-model',
    'The stand-in puts the mark of a passage behind what it quotes of it.',
  ],
  [
    'OFF-531',
    'docs/offline-model.md#rules-of-the-offline-model',
    'The stand-in answers a follow-up from the conversation itself: files, what the person said, results in words, and how work stands.',
  ],
  [
    'OFF-532',
    'docs/offline-model.md#rules-of-the-offline-model',
    'A message typed while the stand-in has a question open is the answer to it, and open work that is not wanted is stopped.',
  ],
  [
    'OFF-533',
    'docs/offline-model.md#rules-of-the-offline-model',
    'The stand-in takes no word of a message for two arguments of a call, and no request for the value of one.',
  ],
]);
