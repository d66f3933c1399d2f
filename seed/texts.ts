/**
 * Text for full-text search: sentences with a realistic word frequency. No character needs escaping
 * in JSON.
 */

const words =
  `the to of and a in is for on that with as it be this are by from at or an not your will can has our was
we if all one more when which there been after order account please invoice payment delivery customer request support
address product service price date number email contact refund return issue status update confirm change help details
information receive received sent send check charged delayed item items package warehouse carrier tracking label stock
replacement exchange credit card bank transfer balance subscription plan renewal upgrade cancel trial discount coupon
code tax receipt billing cycle period monthly annual contract clause agreement notice policy warranty repair damaged
missing wrong size colour blue red green black white large small medium cotton leather steel wooden kitchen garden
chair table lamp mirror carpet curtain window door handle screen battery charger cable adapter printer keyboard monitor
camera speaker headphones phone tablet laptop router signal network outage password login session browser error crash
report export import backup restore server region latency request limit quota usage meter reading energy water heating
pressure valve pump filter engine brake tyre wheel bicycle helmet jacket boots tent sleeping mountain river harbour
ferry airport flight luggage passport visa booking hotel room breakfast reservation museum ticket concert theatre
library lecture course exam grade teacher student school holiday calendar meeting agenda minutes project milestone
deadline budget forecast revenue margin supplier purchase freight customs tariff inspection certificate insurance claim
premium coverage doctor appointment prescription vaccine symptom fever allergy treatment recovery nurse clinic patient
recipe flour butter sugar vinegar basil saffron cinnamon walnut apricot rhubarb mushroom lentil barley chestnut harvest
orchard vineyard meadow glacier volcano lighthouse telescope satellite comet eclipse tide lantern compass anchor`
    .split(/\s+/)
    .filter(Boolean);

const sentences = Array.from({ length: 32_768 }, sentence);
const corpus = sentences.join(' ');
/** Start of each sentence, and the end of the last one. */
const begins = [0];
for (const { length } of sentences) begins.push((begins.at(-1) ?? 0) + length + 1);
const charsEach = corpus.length / sentences.length;

/** Consecutive complete sentences of at least this length, cut from one long text. */
export function textOf(charsMin: number): string {
  const count = Math.max(1, Math.floor(charsMin / charsEach));
  const first = Math.floor(Math.random() * (sentences.length - 3 * count));
  const from = begins[first] ?? 0;
  let end = first + count;
  while ((begins[end] ?? corpus.length) - 1 - from < charsMin) end++;
  return corpus.slice(from, (begins[end] ?? corpus.length) - 1);
}

/** The first few words make up half of the text, as in natural language. */
function sentence(): string {
  const length = 6 + Math.floor(Math.random() * 12);
  const chosen = Array.from(
    { length },
    () => words[Math.floor(words.length * Math.random() ** 2.2)] ?? '',
  );
  const text = chosen.join(' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
