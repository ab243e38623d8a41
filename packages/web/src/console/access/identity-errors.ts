/** Why the company's own sign-in sent the browser back, by `sign_in_error` of the address. */
const sentences: Readonly<Record<string, string>> = {
  not_offered: 'This org has no sign-in of its own. Use your email and password.',
  expired: 'That sign-in took too long, or was begun in another browser. Begin again.',
  unreachable: 'The company’s sign-in did not answer. Try again, or use your email and password.',
  refused: 'The company’s sign-in was not completed.',
  email_unverified: 'The company’s sign-in does not say that your email address is verified. Ask whoever runs it.',
  email_not_allowed: 'Your email address is not of a domain that this org lets in.',
  not_a_member: 'You are not a member of this org. Ask an owner or admin for an invitation.',
  link_required:
    'You have a password here. Sign in with it, then link your company account on the page “Your account”.',
  another_identity: 'This account of the company is linked with somebody else, or you with another account.',
};

export const identityError = (code: string): string =>
  (Object.hasOwn(sentences, code) && sentences[code]) || 'The sign-in did not end well. Begin again.';
