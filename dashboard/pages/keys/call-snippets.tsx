import type { Agent } from '../../../src/client/index.ts';
import { CodeSnippets } from '../../components/code-snippets.tsx';
import { agentFields } from '../../data/agents/value-fields.ts';
import { serverURL } from '../../data/client/base-path.ts';
import {
  claudeCodeSnippet,
  curlSnippet,
  cursorSnippet,
  keyVariable,
  pythonSnippet,
  typeScriptSnippet,
  vsCodeSnippet,
} from '../../data/text/call-snippets.ts';
import { ownProperty } from '../../data/text/own-property.ts';
import classes from './keys.module.css';

/** Runnable code with this agent's variables, and configurations that make it a tool. `apiKey` is one that was just issued. */
export function CallSnippets(props: { readonly agent: Agent; readonly apiKey: string | null }) {
  const { agent, apiKey: key } = props;
  const { agentId, slug } = agent;
  const call = { agentId, slug, variables: sampleOf(agent), baseURL: serverURL, key };
  return (
    <CodeSnippets
      languages={[
        { label: 'curl', code: curlSnippet(call) },
        { label: 'TypeScript', code: typeScriptSnippet(call) },
        { label: 'Python', code: pythonSnippet(call), about: pythonText },
        { label: 'Claude Code', code: claudeCodeSnippet(call), about: mcpText },
        { label: 'Cursor', code: cursorSnippet(call), about: cursorText },
        { label: 'VS Code', code: vsCodeSnippet(call), about: vsCodeText },
      ]}
    >
      <p className={classes.muted}>{key === null ? withoutKey : withKey}</p>
    </CodeSnippets>
  );
}

const withKey = 'The code contains the key that you just created, until you leave this page.';
const withoutKey = (
  <>
    The code reads the key from the environment variable <code>{keyVariable}</code>; VS Code asks
    for it. Create a key below to fill it in here.
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
