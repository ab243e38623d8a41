/** Messages for the search parameter `sign_in_error` that the callback of single sign-on sets. */
const sentences: Readonly<Record<string, string>> = {
  not_offered: 'This org has no single sign-on. Use your email and password.',
  expired: 'The sign-in expired, or was started in another browser. Try again.',
  unreachable: 'The company’s identity provider did not respond. Try again, or use your email and password.',
  refused: 'The company’s identity provider did not complete the sign-in.',
  email_unverified: 'Your email address is not verified at the company’s identity provider. Ask its administrator.',
  email_not_allowed: 'Your email address is not in a domain that this org allows.',
  not_a_member: 'You are not a member of this org. Ask an owner or admin for an invitation.',
  link_required: 'This account has a password. Sign in with it, then link your company account under “Your account”.',
  another_identity:
    'This company account is linked to another member, or your membership is linked to another company account.',
};

export const identityError = (code: string): string =>
  (Object.hasOwn(sentences, code) && sentences[code]) || 'The sign-in failed. Try again.';
