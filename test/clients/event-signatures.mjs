import OpenAI from 'openai';
import { Webhook } from 'svix';

// Verifies a request with each library: node event-signatures.mjs SECRET BODY HEADERS
const [secret = '', body = '', json = '{}'] = process.argv.slice(2);
const headers = JSON.parse(json);

const client = new OpenAI({ apiKey: 'none', webhookSecret: secret });
const verifiers = {
  svix: () => new Webhook(secret).verify(body, headers),
  openai: () => client.webhooks.unwrap(body, headers),
};
const accepted = [];
for (const [name, verify] of Object.entries(verifiers)) {
  try {
    await verify();
    accepted.push(name);
  } catch {}
}
console.log(JSON.stringify(accepted));
