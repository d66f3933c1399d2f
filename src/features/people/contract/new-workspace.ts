import { Type } from 'typebox';
import { emailMax } from '../../../http/contract/contract-limits.ts';
import { name, text } from '../../../http/contract/shared.ts';

/** The options of `cueline workspaces create`. No route creates a workspace: the operator decides who gets one. */
export const newWorkspace = Type.Object({
  name: name('Display name. Does not have to be unique.'),
  owner: text(emailMax, 'E-mail address of its first owner.'),
});
