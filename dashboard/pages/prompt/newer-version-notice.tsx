import { Link } from '@tanstack/react-router';
import type { Prompt } from '../../../src/client/index.ts';
import classes from './editor.module.css';

/** Someone saved a version while this draft was written. Saved now, it would leave out what that one says. */
export function LaterVersion(props: { readonly prompt: Prompt; readonly baseId: string | null }) {
  const { prompt, baseId } = props;
  const latest = prompt.latestVersion;
  if (!latest || latest.promptVersionId === baseId) return null;
  const compared = { after: latest.promptVersionId, ...(baseId !== null && { before: baseId }) };
  return (
    <p className={classes.later} role="status">
      The latest version is “{latest.promptVersionLabel}”, and this draft did not begin from it.{' '}
      <Link
        to="/prompts/$promptId/versions"
        params={{ promptId: prompt.promptId }}
        search={compared}
      >
        See what it changed
      </Link>
    </p>
  );
}
