import { scriptLiteral, shellQuoted } from '../agents/call-snippets.ts';

/** Code snippets that send an event signed as Standard Webhooks specifies. */

/** The secret is shown only once, so snippets read it from the environment. */
export const secretVariable = 'CUELINE_WEBHOOK_SECRET';

type Event = Readonly<Record<string, unknown>>;

export function signedCurlSnippet(address: string, event: Event): string {
  return `ID="msg_$(openssl rand -hex 12)"
AT=$(date +%s)
BODY=${shellQuoted(JSON.stringify(event))}
KEY=$(printf %s "\${${secretVariable}#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')
SIGNATURE=$(printf %s "$ID.$AT.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)
curl -X POST ${shellQuoted(address)} \\
  -H 'Content-Type: application/json' \\
  -H "webhook-id: $ID" \\
  -H "webhook-timestamp: $AT" \\
  -H "webhook-signature: v1,$SIGNATURE" \\
  --data-raw "$BODY"
`;
}

export function signedNodeSnippet(address: string, event: Event): string {
  return `const { createHmac, randomUUID } = process.getBuiltinModule('node:crypto');

const id = \`msg_\${randomUUID()}\`;
const at = Math.floor(Date.now() / 1000);
const body = JSON.stringify(${scriptLiteral(event)});
const key = Buffer.from(process.env.${secretVariable}.replace(/^whsec_/, ''), 'base64');
const signature = createHmac('sha256', key).update(\`\${id}.\${at}.\${body}\`).digest('base64');
const answer = await fetch(${scriptLiteral(address)}, {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': \`v1,\${signature}\`,
  },
  body,
});
console.log(answer.status, await answer.text());
`;
}
