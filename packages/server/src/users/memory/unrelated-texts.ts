import type { Embeddings } from '../../agents/index.ts';
import { compareWith, packVectors } from '../../agents/notebooks/index.ts';
import { untilAborted } from '../../platform/async/waiters.ts';

/**
 * Returns how similar the query is to the third nearest of many texts about the world. A fact that is no nearer is near
 * by chance. The third, because one or two of the texts may be about the subject of a fact.
 *
 * Measured with the offline encoder: of the 66 questions in other words of the recall set, 58 find their fact as before.
 * Of 90 questions that nothing answers, 65 find no fact by meaning, and 11 without these texts.
 */
export async function similarityOfUnrelated(
  embeddings: Embeddings,
  asked: Float32Array,
  signal: AbortSignal,
): Promise<number> {
  const packed = await untilAborted(vectorsFor(embeddings), signal);
  return compareWith(asked)(packed).sort().at(-3) as number;
}

const textsAtOnce = 24;
const embedded = new WeakMap<Embeddings, Promise<Buffer>>();

/** Embeds the texts once per process, for all callers. After a failure the next search tries again. */
function vectorsFor(embeddings: Embeddings): Promise<Buffer> {
  const known = embedded.get(embeddings);
  if (known) return known;
  const begun = embedTexts(embeddings);
  embedded.set(embeddings, begun);
  begun.catch(() => embedded.delete(embeddings));
  return begun;
}

/** Small calls pass documents that are being indexed, because the encoder takes the call with the fewest texts first. */
async function embedTexts(embeddings: Embeddings): Promise<Buffer> {
  const calls = Array.from({ length: Math.ceil(texts.length / textsAtOnce) }, (_, at) =>
    texts.slice(at * textsAtOnce, (at + 1) * textsAtOnce),
  );
  const made = await Promise.all(calls.map((call) => embeddings.embed(call, { urgency: 'index' })));
  return packVectors(made.flat());
}

/** Plain statements about the world, from as many fields as possible. None is about a person or a customer. */
const texts = `
Water boils sooner on a high mountain.
Bread is baked from flour, water, salt and yeast.
The emperor ruled the country for forty years.
Planets move around the sun in ellipses.
The river floods the valley every spring.
A triangle has three sides and three angles.
The painter finished the portrait in Florence.
Electrons are much smaller than atoms.
Parliament passed the law after a long debate.
Whales breathe air and feed on plankton.
The goalkeeper saved two penalties in the final.
The symphony has four movements.
Iron ore is melted in a furnace.
The desert is hot by day and cold at night.
A program is a list of instructions for a computer.
The poet wrote about love and death.
The virus spreads through the air.
Share prices fell sharply on the exchange.
The glacier has shrunk by a third.
Philosophers argue about free will.
The knight rode into battle with a sword.
Plants turn sunlight into sugar.
An engine turns fuel into motion.
Monkeys live in groups in the forest.
The comedian told a story about a duck.
The storm brought heavy rain and strong wind.
The currency lost half of its value.
The router has to be restarted to get back online.
The detective found the murder weapon.
The soup needs onions, carrots and some butter.
The museum shows coins of ancient Greece.
An earthquake shook the coast.
The ship crossed the ocean in ten days.
The square of a number is never negative.
Bees make honey in their hive.
The actress won a prize for her role in the film.
The bridge was built of steel and concrete.
The two kings signed a treaty of peace.
A dog chased a cat across the garden.
The theory explains how galaxies form.
The mine produces copper and gold.
The novel is set in a small village.
The summit of the mountain is covered with snow.
The hotel has a restaurant on the top floor.
Farmers grow wheat and potatoes on the plain.
Encryption protects a message from being read.
The court sentenced the thief to three years in prison.
A violin has four strings.
The railway connects the two largest cities.
The clock on the tower struck twelve.
The acid reacts with the metal and forms a salt.
The skeleton of an adult has 206 bones.
The grammar of the language has six cases.
The stadium holds sixty thousand people.
The roof of the church was repaired.
A passport proves the nationality of its holder.
The table and the chairs are made of oak.
The candidate won the election by five votes.
The satellite sends pictures back to earth.
The central bank raised the interest rate.
The temple was built by the Romans.
Sharks have lived in the sea for millions of years.
The volcano last erupted a century ago.
The orchestra plays in the opera house.
The database stores rows in pages of eight kilobytes.
Antibiotics kill bacteria.
The moon causes the tides.
The chess player gave up after forty moves.
The bicycle has a flat tyre.
Oil is refined into petrol and diesel.
The monk copied the manuscript by hand.
The aircraft flies at ten thousand metres.
Dinosaurs died out long before there were people.
The recipe says to leave the dough to rest overnight.
The forest burned for three weeks.
The magazine published an interview with the singer.
Wine is made from grapes.
The border between the two states follows the river.
The professor gave a lecture on the history of science.
The lamp runs on four batteries.
The tribe believes in spirits of the ancestors.
Light travels faster than sound.
The stock of fish in the lake has recovered.
The tennis match lasted five hours.
The architect designed a tower of glass.
Snow blocks the road over the pass in winter.
The telescope can see very distant stars.
The government lowered the tax on income.
The insect has six legs and two wings.
The joke is about a horse in a bar.
The castle has thick walls and a deep moat.
The function returns the sum of its arguments.
The vaccine protects against measles.
The dance comes from Argentina.
The fridge keeps food cold.
The war ended with the fall of the capital.
The lesson is about the past tense of verbs.
The island can be reached by ferry.
Penguins raise their young on the ice.
The printer is out of ink.
Inflation makes everything more expensive.
The sculpture is made of marble.
The reactor heats water into steam.
The dictionary explains the origin of words.
The gardener waters the roses in the morning.
The league has eighteen teams.
The compiler reports an error in the third line.
Gravity pulls the apple to the ground.
The carpet is red and blue.
The revolution began with the storming of a prison.
The camera takes pictures in the dark.
The brain consists of billions of nerve cells.
The elevator stops at every floor.
The comet returns every seventy years.
Sugar dissolves in hot tea.
The website shows an advertisement for a new phone.
The mathematician proved the theorem.
The band released its third album.
The soil is poor in nitrogen.
The prince falls in love with a servant.
Cheese is made from milk with rennet.
Beer is brewed from barley, hops and water.
The cake has to cool down before it is cut.
Tomatoes ripen faster beside an apple.
The country has ninety million inhabitants.
The skyscraper is the tallest in Asia.
The poem has three lines and no rhyme.
A loop repeats a block of code.
The protocol sends packets over the network.
The club lost the cup final.
A kite needs wind to rise.
The puzzle has a thousand pieces.
Cells divide to form new tissue.
The spider spins a web between two branches.
The pyramid is older than the city.
The law of supply and demand sets prices.
`
  .trim()
  .split('\n');
