import type { Variables } from '../../../src/client/index.ts';
import { stringify } from './exact-json.ts';

/** Code snippets that call an agent. Each value is quoted for its language. */

/** The key is shown only once, so snippets read it from the environment. */
export const keyVariable = 'CUELINE_API_KEY';

const executePath = (agentId: string) => `/api/v1/agents/${encodeURIComponent(agentId)}/execute`;

export function curlSnippet(agentId: string, variables: Variables, baseURL: string): string {
  return [
    `curl -X POST ${shellQuoted(baseURL + executePath(agentId))}`,
    `-H "Authorization: Bearer $${keyVariable}"`,
    "-H 'Content-Type: application/json'",
    `-d ${shellQuoted(stringify({ variables }, 2))}`,
  ].join(' \\\n  ');
}

/** Uses only `fetch`, so that nothing needs to be installed. `JSON.parse` returns `any`, so it needs no types. */
export function typeScriptSnippet(agentId: string, variables: Variables, baseURL: string): string {
  return `const baseURL = ${scriptLiteral(baseURL)};
const headers = {
  authorization: \`Bearer \${process.env.${keyVariable}}\`,
  'content-type': 'application/json',
};
const accepted = await fetch(\`\${baseURL}${executePath(agentId)}\`, {
  method: 'POST',
  headers,
  body: JSON.stringify({
    variables: ${indented(scriptLiteral(variables), 4)},
  }),
});
if (accepted.status !== 202) throw new Error(await accepted.text());
const { statusUrl } = JSON.parse(await accepted.text());

let execution;
do {
  // Long poll: the server answers when the execution ends, or after 25 seconds.
  const answer = await fetch(new URL(\`\${statusUrl}?wait=25\`, baseURL), { headers });
  if (!answer.ok) throw new Error(await answer.text());
  execution = JSON.parse(await answer.text());
  if (execution.status === 'processing') await new Promise((resolve) => setTimeout(resolve, 1_000));
} while (execution.status === 'processing');
console.log(execution.status, execution.outputText ?? execution.error);
`;
}

export function pythonSnippet(agentId: string, variables: Variables, baseURL: string): string {
  return `import json
import os
import time
import urllib.request
from urllib.parse import urljoin

BASE_URL = ${scriptLiteral(baseURL)}


def call(url, body=None):
    request = urllib.request.Request(
        url,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['${keyVariable}']}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


execution = call(BASE_URL + "${executePath(agentId)}", {
    "variables": json.loads(${pythonLiteral(variables)}),
})
status_url = urljoin(BASE_URL, execution["statusUrl"])
# Long poll: the server answers when the execution ends, or after 25 seconds.
while (execution := call(status_url + "?wait=25"))["status"] == "processing":
    time.sleep(1)
print(execution["status"], execution.get("outputText") or execution.get("error"))
`;
}

/** Within single quotes a shell treats only the quote itself specially. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JSON is valid JavaScript. */
export function scriptLiteral(value: unknown): string {
  return stringify(value, 2);
}

/**
 * A JSON text as a Python string literal. The escapes agree, and `JSON.stringify` writes characters beyond the BMP
 * unescaped.
 */
function pythonLiteral(value: unknown): string {
  return JSON.stringify(stringify(value));
}

function indented(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}
