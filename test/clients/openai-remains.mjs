// What docs/clients.md says of clients and of what is not here: base URL, key.
import { createOpenAI } from '@ai-sdk/openai';
import { OpenAIEmbeddings } from '@langchain/openai';
import { embed, generateText } from 'ai';
import OpenAI from 'openai';

const [baseURL, apiKey] = process.argv.slice(2);
const openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const statusOf = (promise) =>
  promise.then(
    () => 200,
    (error) => error.status ?? error.statusCode ?? error.response?.status ?? String(error),
  );
const call = { model: 'tools', input: 'Hi' };
const missing = await Promise.all(
  [
    openai.embeddings.create({ model: 'tools', input: 'x' }),
    openai.moderations.create({ input: 'x' }),
    openai.files.list(),
    openai.conversations.create(),
    openai.vectorStores.list(),
    openai.batches.list(),
    openai.images.generate({ prompt: 'x' }),
  ].map(statusOf),
);
const refused = await Promise.all(
  [
    { tools: [{ type: 'web_search' }] },
    { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
    { previous_response_id: 'resp_1' },
    { conversation: 'conv_1' },
  ].map((more) => statusOf(openai.responses.create({ ...call, ...more }))),
);
const provider = createOpenAI({ baseURL, apiKey });
const embeddings = [
  await statusOf(embed({ model: provider.embedding('tools'), value: 'x', maxRetries: 0 })),
  await statusOf(
    new OpenAIEmbeddings({
      model: 'tools',
      apiKey,
      maxRetries: 0,
      configuration: { baseURL },
    }).embedQuery('x'),
  ),
];
/** Two turns of the AI SDK, and whether the second one refers to the items of the first. */
async function turns(store) {
  const sent = [];
  const recording = createOpenAI({
    ...{ baseURL, apiKey },
    fetch: (url, init) => {
      sent.push(init.body);
      return fetch(url, init);
    },
  });
  const options = {
    model: recording('tools'),
    maxRetries: 0,
    providerOptions: { openai: { store } },
  };
  const user = { role: 'user', content: 'First' };
  const first = await generateText({ ...options, messages: [user] });
  const messages = [user, ...first.response.messages, { role: 'user', content: 'Second' }];
  const { text } = await generateText({ ...options, messages });
  return { text, refers: sent.at(-1).includes('item_reference') };
}
const stored = await turns(true);
const unstored = await turns(false);
console.log(JSON.stringify({ missing, refused, embeddings, stored, unstored }));
