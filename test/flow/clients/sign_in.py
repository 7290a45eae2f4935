# Debian's python3-requests-oauthlib. Prints the record of a sign-in, and the error of a wrong secret.
import json
import os

import requests
from oauthlib.oauth2 import OAuth2Error
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

app, client_id, client_secret, redirect_uri, way = (
    os.environ[name] for name in ('APP', 'CLIENT_ID', 'CLIENT_SECRET', 'REDIRECT_URI', 'WAY'))


def authenticated(secret):
    if way == 'basic':
        return {'auth': HTTPBasicAuth(client_id, secret)}
    return {'client_secret': secret, 'include_client_id': True}


def sign_in(secret):
    session = OAuth2Session(client_id, redirect_uri=redirect_uri)
    url, _ = session.authorization_url(app + '/oauth/authorize')
    callback = requests.get(url, headers={'cookie': os.environ['COOKIE']}, allow_redirects=False).headers['location']
    session.fetch_token(app + '/oauth/token', authorization_response=callback, **authenticated(secret))
    return session.get(app + '/oauth/user').json()


record = sign_in(client_secret)
try:
    sign_in(client_secret + 'x')
except OAuth2Error as error:
    print(json.dumps({'record': record, 'error': error.error}))
