/**
 * What customers of a shop ask, and what its support answers. Sentences are drawn from short corpora with slots, so a long
 * history holds many different ones, and common words occur far more often than rare ones. No character needs escaping in JSON.
 */

const slots = {
  item: `kitchen lamp|oak chair|wool blanket|walnut table|rhubarb cordial|saffron tin|leather boots|river tent|garden bench|
    bicycle helmet|steel kettle|reading lantern|harbour print|cotton jacket|phone charger|camera strap|piano stool|
    copper pan|lighthouse poster|mountain rucksack|tea set|ceramic vase|desk organizer|wireless speaker|rain coat`,
  part: `left arm|handle|lid|charging cable|second shelf|zip|base plate|power adapter|screws|cushion cover|strap buckle`,
  colour: `dark green|white|light grey|navy blue|red|natural oak|black`,
  other: `beech|dark red|cream|turquoise|silver`,
  day: `Monday|Tuesday|Wednesday|Thursday|Friday|Saturday`,
  place: `Lisbon|Graz|Utrecht|Aarhus|Leeds|Porto|Ghent|Lyon|Trieste|Bergen|Kraków|Lighthouse Street 4|Mill Lane 18`,
  carrier: `the carrier|the parcel shop|the courier|the post office`,
  amount: `12.90|24.00|36.50|49.90|79.00|118.40|249.00`,
  days: `two|three|four|five|seven|ten|fourteen`,
  means: `by card|by bank transfer|with a voucher|on account|by direct debit`,
};

const asked = `
My {item} was meant to arrive on {day}, but the tracking page has not changed since.
The {item} arrived with a broken {part}, and the box looked as if it had been opened.
I ordered the {item} in {colour} and received it in {other}.
Can I still change the delivery address to {place}?
I returned the {item} on {day} and would like to know when I get my {amount} back.
I was charged {amount} twice for the same order.
The invoice shows the wrong company name, and our accounting department needs a corrected one.
Will you have the {item} in stock again before the end of the month?
The discount code from your newsletter is not accepted at the checkout.
I paid {means}, but the order still says that the payment is pending.
How do I clean the {item} without damaging it?
The {part} of my {item} came loose after {days} days of normal use.
Please cancel the order, because I found out that I do not need the {item}.
I cannot sign in since {day}, and the reset mail does not arrive.
Do you ship the {item} to {place}, and what does it cost?
Our team in {place} would like to order {days} of these with one invoice.
The manual of the {item} is missing, and I do not know how to attach the {part}.
Could you ask {carrier} to leave the parcel at the back door?
I would like to exchange the {item} for one in {colour}.
My subscription was renewed on {day} although I had cancelled it.
Does the warranty cover the {part}, or do I have to buy a new one?
I only received one of {days} parcels so far.`;

const answered = `
I am sorry that your {item} has not arrived yet.
{Carrier} scanned the parcel in {place} on {day}, so it should reach you within {days} days.
I have asked {carrier} to look for the parcel and will write to you as soon as I hear back.
A new {part} is on its way to you free of charge, and you can keep the old one.
I have arranged a replacement for the {item} in {colour}.
You can return it with the label attached to this message, and we pay for the postage.
Your refund of {amount} was sent on {day} and takes up to {days} working days to appear.
The second payment of {amount} was only a reservation, and your bank releases it by itself.
I have changed the delivery address to {place}.
The order has already left our warehouse, so the address cannot be changed any more.
We have the {item} in stock again on {day} at the latest, and I have put one aside for you.
A corrected invoice is attached, and the old one is no longer valid.
The code can be used once for each account, and it was redeemed with an earlier order.
We ship to {place} for {amount}, and delivery takes {days} days.
Please clean the {item} with a damp cloth and let it dry before you use it again.
The warranty covers the {part} for two years, so the repair costs you nothing.
Your payment {means} has now been matched with the order, and it ships tomorrow.
I have cancelled the order, and you will not be charged.
The subscription ends on {day}, and the last payment of {amount} has been returned.
The manual shows on page {days} how the {part} is attached, and I have added a link to it.
We can put all {days} on one invoice if you order them together.
Is there anything else that I can do for you?`;

/** Sentences of a corpus. */
const sentencesEach = 32_768;
/** Sentences of one letter, at most. */
const letterLength = 12;

const lists = new Map(
  Object.entries(slots).map(([name, list]) => [name, list.split('|').map((one) => one.trim())]),
);

export const questions = corpusOf(asked);
export const answers = corpusOf(answered);

interface Corpus {
  readonly text: string;
  /** The start of each sentence, and the end of the last one. */
  readonly begins: readonly number[];
}

function corpusOf(templates: string): Corpus {
  const lines = templates.trim().split('\n');
  const sentences: string[] = [];
  while (sentences.length < sentencesEach) sentences.push(...letterOf(lines));
  const begins = [0];
  for (const { length } of sentences) begins.push((begins.at(-1) ?? 0) + length + 1);
  return { text: sentences.join(' '), begins };
}

/** Sentences about the same things, each once. */
function letterOf(lines: readonly string[]): string[] {
  const things = new Map([...lists].map(([name, list]) => [name, pick(list)]));
  const chosen = new Set(Array.from({ length: letterLength }, () => pick(lines)));
  return [...chosen].map((line) =>
    line.replace(/\{(\w+)\}/g, (_, name: string) => wordOf(name, things)),
  );
}

function wordOf(name: string, things: ReadonlyMap<string, string>): string {
  const word = things.get(name.toLowerCase()) ?? '';
  return name === name.toLowerCase() ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** The first entries are the most frequent. */
function pick(list: readonly string[]): string {
  return list[Math.floor(list.length * Math.random() ** 1.6)] ?? '';
}

/** Consecutive complete sentences of at least this length. */
export function textOf({ text, begins }: Corpus, charsMin: number): string {
  const count = Math.max(1, Math.floor((charsMin * (begins.length - 1)) / text.length));
  const first = Math.floor(Math.random() * (begins.length - 1 - 3 * count));
  const from = begins[first] ?? 0;
  let end = first + count;
  while ((begins[end] ?? text.length) - 1 - from < charsMin) end++;
  return text.slice(from, (begins[end] ?? text.length) - 1);
}
