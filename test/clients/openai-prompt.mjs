// The package `openai`: a call of a prompt of OpenAI. Only the environment names the server and the key.
import OpenAI from 'openai';

const openai = new OpenAI();
const prompt = (version, id = 'pmpt_68a1f0c2b7d48190a4c0ffee') => ({
  prompt: { id, version, variables: { city: 'Rome', tone: { type: 'input_text', text: 'dry' } } },
});
const { output_text: text, prompt: echoed } = await openai.responses.create(prompt('7'));
let streamed = '';
for await (const event of await openai.responses.create({ ...prompt('7'), stream: true })) {
  if (event.type === 'response.output_text.delta') streamed += event.delta;
}

const errorOf = (error) => ({ status: error.status, code: error.code, param: error.param });
const errors = [
  await openai.responses.create(prompt('2')).catch(errorOf),
  await openai.responses.create(prompt('7', 'pmpt_0')).catch(errorOf),
];
console.log(JSON.stringify({ text, version: echoed.version, streamed, errors }));
