import { languageOf } from './words.ts';

/** The stand-in's own phrases, in the languages that it knows. */
export type Phrases = {
  notice: string;
  hello: string;
  welcome: string;
  nothingFound: string;
  noSource: string;
  noIdentity: string;
  done: string;
  started: string;
  passedOn: string;
  stopped: string;
  noted: string;
  unclear: string;
  said: string;
  work: string;
  remembered: string;
  from: string;
  enclosed: string;
  tools: string;
  notebooks: string;
};

/** An earlier agent message with these words contained the notice, in any language. */
export const standInWords = 'offline stand-in';

const english: Phrases = {
  notice: `I am the ${standInWords}: no model provider is configured, so I match words and answer only from instructions, notebooks, memory and tools.`,
  hello: 'Hello. What can I do for you?',
  welcome: 'You are welcome.',
  nothingFound: 'I found nothing about this in instructions, notebooks or memory.',
  noSource: 'I have no tool, notebook or memory for this.',
  noIdentity: 'My instructions do not say who I am.',
  done: 'That is done.',
  started: 'I have started on this and will come back with the result.',
  passedOn: 'I have passed this on.',
  stopped: 'I have stopped the work.',
  noted: 'I have read this, and can quote it while we talk.',
  unclear: 'I match words, and there is none here that I could look for. Please name what you mean.',
  said: 'You said: ',
  work: 'About the work: ',
  remembered: 'I remember: ',
  from: 'From',
  enclosed: 'From what you sent: ',
  tools: 'I can use these tools:',
  notebooks: 'I can look things up in:',
};

const german: Phrases = {
  notice: `Ich bin der Ersatz ohne Modell (${standInWords}): Es ist kein Modellanbieter eingerichtet. Ich vergleiche Wörter und antworte nur aus Anweisungen, Notizbüchern, Gedächtnis und Werkzeugen.`,
  hello: 'Guten Tag. Was kann ich für Sie tun?',
  welcome: 'Gern geschehen.',
  nothingFound: 'Dazu habe ich in Anweisungen, Notizbüchern und Gedächtnis nichts gefunden.',
  noSource: 'Dafür habe ich weder Werkzeug noch Notizbuch noch Gedächtnis.',
  noIdentity: 'Meine Anweisungen sagen nicht, wer ich bin.',
  done: 'Das ist erledigt.',
  started: 'Ich habe damit begonnen und melde mich mit dem Ergebnis.',
  passedOn: 'Ich habe das weitergegeben.',
  stopped: 'Ich habe die Arbeit angehalten.',
  noted: 'Das habe ich gelesen und kann es in diesem Gespräch zitieren.',
  unclear: 'Ich vergleiche Wörter, und hier ist keines, nach dem ich suchen könnte. Bitte nennen Sie, was Sie meinen.',
  said: 'Sie sagten: ',
  work: 'Zur Arbeit: ',
  remembered: 'Ich erinnere mich: ',
  from: 'Aus',
  enclosed: 'Aus dem, was Sie geschickt haben: ',
  tools: 'Ich kann diese Werkzeuge benutzen:',
  notebooks: 'Ich kann hier nachsehen:',
};

const spanish: Phrases = {
  notice: `Soy el sustituto sin modelo (${standInWords}): no hay ningún proveedor de modelos configurado. Comparo palabras y respondo solo con instrucciones, cuadernos, memoria y herramientas.`,
  hello: 'Hola. ¿En qué puedo ayudarle?',
  welcome: 'De nada.',
  nothingFound: 'No he encontrado nada sobre esto en instrucciones, cuadernos ni memoria.',
  noSource: 'No tengo herramienta, cuaderno ni memoria para esto.',
  noIdentity: 'Mis instrucciones no dicen quién soy.',
  done: 'Hecho.',
  started: 'He empezado con esto y volveré con el resultado.',
  passedOn: 'Lo he transmitido.',
  stopped: 'He detenido el trabajo.',
  noted: 'Lo he leído y puedo citarlo en esta conversación.',
  unclear: 'Comparo palabras, y aquí no hay ninguna que pueda buscar. Diga por favor a qué se refiere.',
  said: 'Usted dijo: ',
  work: 'Sobre el trabajo: ',
  remembered: 'Recuerdo: ',
  from: 'De',
  enclosed: 'De lo que envió: ',
  tools: 'Puedo usar estas herramientas:',
  notebooks: 'Puedo consultar:',
};

const phrasesIn = { en: english, de: german, es: spanish };

/** Uses the fixed language if it is known, otherwise the language that the user seems to write. */
export function phrasesFor(language: string | null, question: string): Phrases {
  if (language === null) return phrasesIn[languageOf(question)];
  return /^de\b/i.test(language) ? german : /^es\b/i.test(language) ? spanish : english;
}
