/** A `fetch` that knows when the client has sent that it cancels a call: closing the client would abort it. */
export function observeCancellation() {
  const sent = Promise.withResolvers();
  return {
    sent: sent.promise,
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (String(init?.body).includes('notifications/cancelled')) sent.resolve();
      return response;
    },
  };
}
