import type { Variables } from '../../../src/client/index.ts';
import { stringify } from './exact-json.ts';

/** How a program calls an agent, ready to be pasted. Every value is quoted as its language quotes it. */

/** The key itself is never shown again, so it comes from the environment. */
export const keyVariable = 'CUELINE_API_KEY';

const executePath = (agentId: string) => `/api/v1/agents/${encodeURIComponent(agentId)}/execute`;

export function curlOf(agentId: string, variables: Variables, origin: string): string {
  return [
    `curl -X POST ${inShell(origin + executePath(agentId))}`,
    `-H "Authorization: Bearer $${keyVariable}"`,
    "-H 'Content-Type: application/json'",
    `-d ${inShell(stringify({ variables }, 2))}`,
  ].join(' \\\n  ');
}

/** Of `fetch` alone, so that nothing has to be installed. What `JSON.parse` answers needs no types. */
export function typeScriptOf(agentId: string, variables: Variables, origin: string): string {
  return `const baseURL = ${inScript(origin)};
const headers = {
  authorization: \`Bearer \${process.env.${keyVariable}}\`,
  'content-type': 'application/json',
};
const accepted = await fetch(\`\${baseURL}${executePath(agentId)}\`, {
  method: 'POST',
  headers,
  body: JSON.stringify({
    variables: ${indented(inScript(variables), 4)},
  }),
});
if (accepted.status !== 202) throw new Error(await accepted.text());
const { statusUrl } = JSON.parse(await accepted.text());

let run;
do {
  // Held by the server until the run ends, for at most 25 seconds.
  const answer = await fetch(\`\${baseURL}\${statusUrl}?wait=25\`, { headers });
  if (!answer.ok) throw new Error(await answer.text());
  run = JSON.parse(await answer.text());
  if (run.status === 'processing') await new Promise((resolve) => setTimeout(resolve, 1_000));
} while (run.status === 'processing');
console.log(run.status, run.outputText ?? run.error);
`;
}

export function pythonOf(agentId: string, variables: Variables, origin: string): string {
  return `import json
import os
import time
import urllib.request

BASE_URL = ${inScript(origin)}


def call(path, body=None):
    request = urllib.request.Request(
        BASE_URL + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['${keyVariable}']}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


run = call("${executePath(agentId)}", {
    "variables": json.loads(${inPython(variables)}),
})
status_url = run["statusUrl"]
# Held by the server until the run ends, for at most 25 seconds.
while (run := call(status_url + "?wait=25"))["status"] == "processing":
    time.sleep(1)
print(run["status"], run.get("outputText") or run.get("error"))
`;
}

/** Between single quotes nothing is special to a shell but the quote itself. */
export function inShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JSON is JavaScript, too. */
export function inScript(value: unknown): string {
  return stringify(value, 2);
}

/** JSON text as a Python literal: what escapes in one escapes in the other, but for pairs of surrogates. */
function inPython(value: unknown): string {
  return JSON.stringify(stringify(value));
}

function indented(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}
