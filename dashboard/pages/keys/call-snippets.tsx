import type { Agent } from '../../../src/client/index.ts';
import { CodeSnippets } from '../../components/code/code-snippets.tsx';
import {
  claudeCodeSnippet,
  curlSnippet,
  cursorSnippet,
  keyVariable,
  pythonSnippet,
  typeScriptSnippet,
  vsCodeSnippet,
} from '../../data/agents/call-snippets.ts';
import { agentFields } from '../../data/agents/value-fields.ts';
import { serverURL } from '../../data/client/base-path.ts';
import { ownProperty } from '../../data/text/own-property.ts';
import classes from './keys.module.css';

/** Runnable code with this agent's variables, and configurations that make it a tool. The key is in a variable. */
export function CallSnippets({ agent }: { readonly agent: Agent }) {
  const call = callOf(agent, null);
  return (
    <CodeSnippets
      languages={[
        { label: 'curl', code: curlSnippet(call), about: curlText },
        { label: 'TypeScript', code: typeScriptSnippet(call), about: typeScriptText },
        { label: 'Python', code: pythonSnippet(call), about: pythonText },
        { label: 'Claude Code', code: claudeCodeSnippet(call), about: mcpText },
        { label: 'Cursor', code: cursorSnippet(call), about: cursorText },
        { label: 'VS Code', code: vsCodeSnippet(call), about: vsCodeText },
      ]}
    >
      <p className={classes.muted}>
        The code reads the key from the environment variable <code>{keyVariable}</code>; VS Code
        asks for it.
      </p>
    </CodeSnippets>
  );
}

/** Complete commands with a key that was just issued, which is shown only this once. */
export function FirstCallSnippets(props: { readonly agent: Agent; readonly apiKey: string }) {
  const call = callOf(props.agent, props.apiKey);
  return (
    <CodeSnippets
      languages={[
        { label: 'curl', code: curlSnippet(call), about: curlText },
        { label: 'TypeScript', code: typeScriptSnippet(call), about: typeScriptText },
        { label: 'Python', code: pythonSnippet(call), about: pythonText },
        { label: 'MCP', code: claudeCodeSnippet(call), about: claudeCodeText },
      ]}
    />
  );
}

function callOf(agent: Agent, key: string | null) {
  const { agentId, slug } = agent;
  return { agentId, slug, variables: sampleOf(agent), baseURL: serverURL, key };
}

const curlText = 'Starts an execution, waits for its end and prints the answer as it arrives.';
const typeScriptText = (
  <>
    Save it as <code>call.ts</code> and run <code>node call.ts</code>. It needs no package.
  </>
);
const pythonText = (
  <>
    Install the package first: <code>pip install openai</code>.
  </>
);
const mcpText = (
  <>
    Makes this agent a tool, over MCP. <code>{serverURL}/mcp</code> offers every agent that the key
    can call.
  </>
);
const claudeCodeText = (
  <>
    Makes this agent a tool of Claude Code. The tab <b>Use it</b> has the configurations of Cursor
    and VS Code.
  </>
);
const cursorText = (
  <>
    Makes this agent a tool, over MCP. Save it as <code>.cursor/mcp.json</code>.
  </>
);
const vsCodeText = (
  <>
    Makes this agent a tool, over MCP. Save it as <code>.vscode/mcp.json</code>.
  </>
);

/** Example values for all declared variables: the default or a placeholder text. */
function sampleOf(agent: Agent): Record<string, unknown> {
  return Object.fromEntries(
    agentFields(agent).map(({ name }) => [
      name,
      ownProperty(agent.defaultVariableValues, name) ?? `your ${name}`,
    ]),
  );
}
