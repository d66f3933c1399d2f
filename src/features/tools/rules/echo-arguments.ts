import { answerBytesMax, type PostTool } from '../../../core/tools/tool-post.ts';

/** Answers as the built-in server, without a request: 200 with the arguments of the call. */
export const echoArguments: PostTool = async ({ body, keptBytes }) => {
  const answer = Buffer.from(body);
  return {
    ...{ kind: 'answered', status: 200, retryAfter: null },
    ...{ bytes: answer.subarray(0, keptBytes), length: answer.length },
    end: answer.length > answerBytesMax ? 'long' : 'whole',
  };
};
