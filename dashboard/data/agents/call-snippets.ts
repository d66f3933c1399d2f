import type { Variables } from '../../../src/client/index.ts';
import { stringify } from '../text/exact-json.ts';

/** Code snippets that call an agent. Each value is quoted for its language. */

export interface SnippetCall {
  readonly agentId: string;
  readonly variables: Variables;
  readonly baseURL: string;
  /** Just issued; null to read it from the environment, because a key is shown only once. */
  readonly key: string | null;
}

export const keyVariable = 'CUELINE_KEY';

const executePath = (agentId: string) => `/api/v1/agents/${encodeURIComponent(agentId)}/execute`;

/**
 * One command that starts the execution, waits for its end and prints the answer as it arrives, as server-sent events: a
 * second request would need a tool that reads JSON. A refusal is printed as plain JSON.
 */
export function curlSnippet({ agentId, variables, baseURL, key }: SnippetCall): string {
  return [
    `curl -sSN -X POST ${shellQuoted(baseURL + executePath(agentId))}`,
    `-H ${shellHeader(key)}`,
    "-H 'Accept: text/event-stream'",
    "-H 'Content-Type: application/json'",
    `-d ${shellQuoted(stringify({ variables }, 2))}`,
  ].join(' \\\n  ');
}

/** Uses only `fetch`, so that nothing needs to be installed. `JSON.parse` returns `any`, so it needs no types. */
export function typeScriptSnippet({ agentId, variables, baseURL, key }: SnippetCall): string {
  const bearer = key === null ? `\`Bearer \${process.env.${keyVariable}}\`` : `'Bearer ${key}'`;
  return `const baseURL = ${scriptLiteral(baseURL)};
const headers = {
  authorization: ${bearer},
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

/** With the `openai` package: the agent is named by its slug. */
export function pythonSnippet({ slug, variables, baseURL, key }: ToolSnippet): string {
  const isText = Object.values(variables).every((value) => typeof value === 'string');
  const values = isText
    ? indented(scriptLiteral(variables), 8)
    : `json.loads(${pythonLiteral(variables)})`;
  const modules = [...(isText ? [] : ['json']), ...(key === null ? ['os'] : [])];
  const imports = modules.map((name) => `import ${name}\n`).join('');
  return `${imports}${imports && '\n'}from openai import OpenAI

client = OpenAI(
    base_url=${scriptLiteral(`${baseURL}/v1`)},
    api_key=${key === null ? `os.environ["${keyVariable}"]` : scriptLiteral(key)},
)
response = client.responses.create(
    prompt={
        "id": ${scriptLiteral(slug)},
        "variables": ${values},
    },
)
print(response.output_text)
`;
}

export interface ToolSnippet extends SnippetCall {
  readonly slug: string;
}

const mcpURL = ({ baseURL, slug }: ToolSnippet) => `${baseURL}/mcp/${encodeURIComponent(slug)}`;

export function claudeCodeSnippet(call: ToolSnippet): string {
  const { slug, key } = call;
  return [
    `claude mcp add --transport http ${shellQuoted(slug)} ${shellQuoted(mcpURL(call))}`,
    `--header ${shellHeader(key)}`,
  ].join(' \\\n  ');
}

/** `.cursor/mcp.json` */
export function cursorSnippet(call: ToolSnippet): string {
  const headers = { Authorization: `Bearer ${call.key ?? `\${env:${keyVariable}}`}` };
  return stringify({ mcpServers: { [call.slug]: { url: mcpURL(call), headers } } }, 2);
}

/** `.vscode/mcp.json`. VS Code asks for a key that is not given, and stores it. */
export function vsCodeSnippet(call: ToolSnippet): string {
  const id = 'cueline-key';
  const headers = { Authorization: `Bearer ${call.key ?? `\${input:${id}}`}` };
  const servers = { [call.slug]: { type: 'http', url: mcpURL(call), headers } };
  const input = { type: 'promptString', id, description: 'Cueline API key', password: true };
  return stringify({ ...(call.key === null && { inputs: [input] }), servers }, 2);
}

function shellHeader(key: string | null): string {
  if (key !== null) return shellQuoted(`Authorization: Bearer ${key}`);
  return `"Authorization: Bearer $${keyVariable}"`;
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
